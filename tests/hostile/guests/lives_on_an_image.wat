;; The last digit of its number is the action, the other digits are a distance. 1: writes a word to pages of its memory
;; at this distance, also to new pages. 2: counts such words. 3: sums up its memory. 4: counts the words of new memory
;; that are not zero. 5: reads beyond its memory. 6: grows as far as it can. 7: writes before the start of its memory.
;; 8: fails in the middle of writing.
;;! memory: 64
;;! libc: (data (i32.const 131072) "where an image begins") (data (i32.const 1500000) "what is in it")
;;! libc: (data (i32.const 2000000) "where it ends")
(func $hostile (param $n i32) (result i32)
  (local $op i32) (local $step i32) (local $at i32) (local $sum i32) (local $end i32)
  (local.set $op (i32.rem_u (local.get $n) (i32.const 10)))
  (local.set $step (i32.mul (i32.add (i32.div_u (local.get $n) (i32.const 10)) (i32.const 1)) (i32.const 4096)))
  (if (i32.eq (local.get $op) (i32.const 5))
    (then (return (call $ok_number (i32.load (i32.mul (memory.size) (i32.const 65536)))))))
  (if (i32.eq (local.get $op) (i32.const 7))
    (then (i32.store (i32.const -4) (i32.const 1))))
  (if (i32.eq (local.get $op) (i32.const 6))
    (then
      (loop $grow (br_if $grow (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
      (return (call $ok_number (memory.size)))))
  (local.set $at (i32.const 131072))
  (if (i32.ne (local.get $op) (i32.const 3))
    (then (drop (memory.grow (i32.const 32)))))
  (local.set $end (i32.mul (memory.size) (i32.const 65536)))
  (if (i32.eq (local.get $op) (i32.const 4)) (then (local.set $at (i32.const 4194304))))
  (if (i32.ge_u (local.get $op) (i32.const 2)) (then (if (i32.le_u (local.get $op) (i32.const 4))
    (then (local.set $step (i32.const 4))))))
  (loop $next
    (if (i32.or (i32.eq (local.get $op) (i32.const 1)) (i32.eq (local.get $op) (i32.const 8)))
      (then (i32.store (local.get $at) (i32.const 0x79726163))))
    (if (i32.eq (local.get $op) (i32.const 2))
      (then (local.set $sum (i32.add (local.get $sum) (i32.eq (i32.load (local.get $at)) (i32.const 0x79726163))))))
    (if (i32.eq (local.get $op) (i32.const 3))
      (then (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (i32.load (local.get $at))))))
    (if (i32.eq (local.get $op) (i32.const 4))
      (then (local.set $sum (i32.add (local.get $sum) (i32.ne (i32.load (local.get $at)) (i32.const 0))))))
    (local.set $at (i32.add (local.get $at) (local.get $step)))
    (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
  (if (i32.eq (local.get $op) (i32.const 8)) (then unreachable))
  (call $ok_number (local.get $sum)))
