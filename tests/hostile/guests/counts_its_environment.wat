;; Returns the number of environment variables.
(func $hostile (param $n i32) (result i32)
  (call $get_environment (i32.const 32))
  (call $ok_number (i32.load (i32.const 36))))
