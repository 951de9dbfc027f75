;; Sleeps this many milliseconds, or without a number until the host's deadline.
(func $hostile (param $n i32) (result i32)
  (local $until i64)
  (local.set $until (i64.mul (i64.extend_i32_u (local.get $n)) (i64.const 1000000)))
  (if (i32.eqz (local.get $n)) (then (local.set $until (i64.const -1))))
  (call $block (call $subscribe (local.get $until)))
  (call $ok (i32.const 64) (i32.const 4)))
