explain pod cart
