;; Returns a whole number of this many digits.
(func $hostile (param $n i32) (result i32)
  (memory.fill (i32.const 1024) (i32.const 57) (local.get $n))
  (call $ok (i32.const 1024) (local.get $n)))
