;; Returns bytes that are not UTF-8.
(data (i32.const 1024) "abc\ff\fe\80")
(func $hostile (param $n i32) (result i32) (call $ok (i32.const 1024) (i32.const 6)))
