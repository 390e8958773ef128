// Nothing but the precompiled header, which needs a translation unit to belong to.
