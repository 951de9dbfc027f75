;; Requests a gigabyte of random bytes, more than one call returns.
(func $hostile (param $n i32) (result i32)
  (call $random (i64.const 1073741824) (i32.const 32))
  (call $ok (i32.const 64) (i32.const 4)))
