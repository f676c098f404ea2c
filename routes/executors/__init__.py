"""Who does the tasks of a plan. One contract: the same plan gives the same bits, whoever does them."""
