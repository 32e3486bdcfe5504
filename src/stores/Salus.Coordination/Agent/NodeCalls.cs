using Corfu.Detection;

namespace Salus.Coordination;

/// <summary>The agent's calls to nodes. Each ends within its limit.</summary>
internal sealed class NodeCalls(ITransport transport, TimeSpan limit, TimeProvider time)
{
    /// <summary>Whether the region servers of the process answer at all, and its disk has room for a
    /// recovery.</summary>
    public async Task<bool> AnswersAsync(
        RegionKey region, Epoch generation, BookedNode node, CancellationToken stopped) =>
        await transport.TryCallAsync(node.RegionAddress, new RegionStatusRequest(generation, region, 0, 0), limit, time,
            stopped) is { Status: not (Status.Failed or Status.NoSpace) };

    /// <summary>Whether the store has sealed the region for the generation.</summary>
    public async Task<bool> IsSealedAsync(
        RegionKey region, Epoch generation, BookedNode node, CancellationToken stopped) =>
        await transport.TryCallAsync(node.StoreAddress, new SealRegionRequest(generation, region), limit, time, stopped)
            is { IsOk: true };

    /// <summary>Whether the store has nothing of the volume; false, too, where it does not answer.</summary>
    public async Task<bool> HasNothingAsync(VolumeId volume, BookedNode node, CancellationToken stopped) =>
        await transport.TryCallAsync(node.StoreAddress, new StoreInfoRequest(Epoch.None), limit, time, stopped)
            is { IsOk: true } info && info.Regions.All(region => region.Region.Volume != volume);
}
