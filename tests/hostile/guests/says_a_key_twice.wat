;; An object with one name for two values.
(data (i32.const 1024) "{\22a\22:1,\22a\22:2}")
(func $hostile (param $n i32) (result i32) (call $ok (i32.const 1024) (i32.const 13)))
