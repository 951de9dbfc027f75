;; Uses most of its stack, then calls the host, which needs stack, too.
(func $deep (param $left i32) (result i32)
  (if (i32.eqz (local.get $left))
    (then
      (drop (call $now))
      (call $send (i32.const 64) (i32.const 4) (i32.const 32))
      (return (i32.const 0))))
  (i32.add (call $deep (i32.sub (local.get $left) (i32.const 1))) (i32.const 1)))
(func $hostile (param $n i32) (result i32)
  (call $ok_number (call $deep (local.get $n))))
