;; Returns an object with a duplicate key.
(data (i32.const 1024) "{\22a\22:1,\22a\22:2}")
(func $hostile (param $n i32) (result i32) (call $ok (i32.const 1024) (i32.const 13)))
