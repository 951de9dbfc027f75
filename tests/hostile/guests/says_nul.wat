;; Returns a NUL between two letters.
(data (i32.const 1024) "a\00b")
(func $hostile (param $n i32) (result i32) (call $ok (i32.const 1024) (i32.const 3)))
