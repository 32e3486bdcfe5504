using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>What the units say of the log: where it begins and how far they got.</summary>
/// <param name="TrimMark">Everything below is trimmed, or its trim has begun and will be brought to all (R5).</param>
/// <param name="End">At least everything acknowledged when the epoch began lies below; not a tail.</param>
public readonly record struct LogExtent(LogPosition TrimMark, LogPosition End);
