using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>Called for each page that a read finds damaged.</summary>
public delegate void CorruptFound(LogPosition position, long address, CorruptPage page);
