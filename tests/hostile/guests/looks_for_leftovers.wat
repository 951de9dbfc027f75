;; 1: fills its memory with a canary. 2: counts the words of new memory that are not zero.
(func $hostile (param $n i32) (result i32)
  (local $at i32) (local $found i32)
  (drop (memory.grow (i32.const 64)))
  (local.set $at (i32.const 131072))
  (loop $next
    (if (i32.eq (local.get $n) (i32.const 1))
      (then (i32.store (local.get $at) (i32.const 0x79726163)))
      (else (local.set $found (i32.add (local.get $found) (i32.ne (i32.load (local.get $at)) (i32.const 0))))))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (br_if $next (i32.lt_u (local.get $at) (i32.const 4000000))))
  (call $ok_number (local.get $found)))
