;; Declares a table of ten million elements.
(table $wide 10000000 funcref)
(func $hostile (param $n i32) (result i32) (unreachable))
