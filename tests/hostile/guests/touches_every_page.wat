;; Uses all memory that it may have, twice.
(func $hostile (param $n i32) (result i32)
  (local $at i32) (local $rounds i32)
  (drop (memory.grow (i32.const 1900)))
  (loop $round
    (local.set $at (i32.const 65536))
    (loop $page
      (i32.store (local.get $at) (local.get $at))
      (local.set $at (i32.add (local.get $at) (i32.const 4096)))
      (br_if $page (i32.lt_u (local.get $at) (i32.const 124500000))))
    (br_if $round (i32.lt_u (local.tee $rounds (i32.add (local.get $rounds) (i32.const 1))) (i32.const 2))))
  (call $ok_number (memory.size)))
