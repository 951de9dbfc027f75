;; Counts how often a clock was finer than a millisecond, or went backwards.
(func $hostile (param $n i32) (result i32)
  (local $before i64) (local $now i64) (local $wrong i32)
  (loop $again
    (call $wall_now (i32.const 32))
    (local.set $wrong (i32.add (local.get $wrong)
      (i32.ne (i32.rem_u (i32.load (i32.const 40)) (i32.const 1000000)) (i32.const 0))))
    (local.set $now (call $now))
    (local.set $wrong (i32.add (local.get $wrong) (i64.lt_u (local.get $now) (local.get $before))))
    (local.set $wrong (i32.add (local.get $wrong)
      (i64.ne (i64.rem_u (local.get $now) (i64.const 1000000)) (i64.const 0))))
    (local.set $before (local.get $now))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 20000))))
  (call $ok_number (local.get $wrong)))
