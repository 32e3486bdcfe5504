namespace Craq.Hosting.Memcached;

/// <summary>Commands of memcached's protocols. Gets, GetsAndTouch and CompareAndSet are the text protocol's: binary
/// commands carry versions always.</summary>
internal enum MemcachedVerb
{
    None,
    Get,
    Gets,
    GetAndTouch,
    GetsAndTouch,
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    CompareAndSet,
    Increment,
    Decrement,
    Delete,
    Touch,
    FlushAll,
    Noop,
    Version,
    Verbosity,
    Stats,
    Quit,
}
