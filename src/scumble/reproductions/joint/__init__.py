"""The paper on several owners (Mohammed, He): its introduction's attack."""
