explain field listener/virtualInbound --demo
