;; Returns a number beyond any float.
(data (i32.const 1024) "1e400")
(func $hostile (param $n i32) (result i32) (call $ok (i32.const 1024) (i32.const 5)))
