;; Never ends.
(func $hostile (param $n i32) (result i32)
  (loop $for_ever (br $for_ever))
  (unreachable))
