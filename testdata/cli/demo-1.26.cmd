explain pod cart --demo --istio-version 1.26
