;; Returns numbers that JSON does not have.
(data (i32.const 1024) "[NaN,Infinity]")
(func $hostile (param $n i32) (result i32) (call $ok (i32.const 1024) (i32.const 14)))
