;; Reads the clock in an endless loop.
(func $hostile (param $n i32) (result i32)
  (loop $again (drop (call $now)) (br $again))
  (unreachable))
