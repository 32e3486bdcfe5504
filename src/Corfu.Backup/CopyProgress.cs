using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>How far a copy got.</summary>
/// <param name="Copied">Everything below is copied.</param>
/// <param name="Tail">The source's tail as last heard: what is left is the lag.</param>
/// <param name="Positions">Copied in this run.</param>
/// <param name="Bytes">Their payloads.</param>
public readonly record struct CopyProgress(LogPosition Copied, LogPosition Tail, long Positions, long Bytes)
{
    public long Lag => Math.Max(0, Tail - Copied);
}
