namespace Salus.Region.Core;

/// <summary>The parts of a process that its regions share.</summary>
/// <param name="Memory">Bytes of batches that are not committed.</param>
internal sealed record RegionServices(ServerIdentity Self, StoreLog Log, IRegionMap Map, ITransport Transport,
    TimeProvider Time, LoopContext Loops, RegionServerOptions Options, RegionMemory Memory)
{
    public event Action<RegionKey, Exception>? Broken;

    public void TellBroken(RegionKey region, Exception reason) => Broken?.Invoke(region, reason);

    public long Now => Time.GetTimestamp();

    public long Behind(TimeSpan delay) => Now + (long)(delay.TotalSeconds * Time.TimestampFrequency);

    /// <summary>Null: the member's process has ended, as far as the book knows.</summary>
    public NodeAddress? AddressOf(RegionMember member) =>
        Map.Nodes.Find(member.Store) is { } node && node.Incarnation == member.Incarnation
            && node.State != BookedState.Gone
                ? node.RegionAddress
                : null;
}

/// <summary>Bytes that are held, of a limit. Thread-safe.</summary>
internal sealed class RegionMemory(long limit)
{
    private long _held;

    public bool TryHold(int bytes)
    {
        if (Interlocked.Add(ref _held, bytes) <= limit) return true;
        Interlocked.Add(ref _held, -bytes);
        return false;
    }

    /// <summary>Beyond the limit as well: what is there already.</summary>
    public void Hold(int bytes) => Interlocked.Add(ref _held, bytes);

    public void Release(int bytes) => Interlocked.Add(ref _held, -bytes);
}
