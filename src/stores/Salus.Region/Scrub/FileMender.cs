using Salus.Store.Files;

namespace Salus.Region.Scrub;

/// <summary>Takes a file of a region from the store of another member. Files are equal at all members (S17), so any
/// intact one will do: it is named by the log of the cluster, or by the hashes that lead to its blocks.</summary>
internal sealed class FileMender(
    StoreId self, IRegionFiles files, ITransport transport, TimeProvider time, TimeSpan callLimit)
{
    /// <summary>False: the file's region has moved away, or its volume is being deleted. True, too, where the process
    /// has not played the region yet.</summary>
    public bool IsWanted(RegionFile file, MapView map) => !map.IsOver(file.Region.Volume)
        && (RegionOf(file, map) is not { } region || region.Current.Members.Any(member => member.Store == self));

    /// <returns>False: no peer has given an intact one.</returns>
    public async Task<bool> TryMendAsync(RegionFile file, MapView map, CancellationToken cancellationToken)
    {
        if (RegionOf(file, map) is not { } region) return false;
        var expected = region.Checkpoints.FirstOrDefault(checkpoint => checkpoint.Number == file.Number);
        var stores = region.Past.Add(region.Current).Reverse().SelectMany(generation => generation.Members)
            .Select(member => member.Store).Distinct();
        foreach (var store in stores)
        {
            if (store == self || map.Nodes.Find(store) is not { } node) continue;
            var request = new ListFilesRequest(region.Current.Number, file.Region);
            if (await CallAsync(node, request, cancellationToken) is not { } listed) continue;
            var found = listed.Files.FirstOrDefault(one => one.Name.Number == file.Number);
            if (found.Name.IsNone || (!expected.IsNone && found.Name != expected)) continue;
            try
            {
                if (await TryCopyAsync(node, region.Current.Number, file, found, cancellationToken)) return true;
            }
            catch (IOException)
            {
                // The disk is full, or a recovery copies the same file.
                return false;
            }
        }

        return false;
    }

    private static RegionState? RegionOf(RegionFile file, MapView map) =>
        map.Volumes.GetValueOrDefault(file.Region.Volume)?.Regions.GetValueOrDefault(file.Region.Region);

    // The pieces are compared with the hashes at the file's end before it gets its name.
    private async Task<bool> TryCopyAsync(
        BookedNode node, Epoch generation, RegionFile file, ListedFile listed, CancellationToken cancellationToken)
    {
        using var writer = files.Create(file);
        var check = new CheckpointCheck(listed.Length);
        while (check.Next > 0)
        {
            var request = new ReadFileRequest(generation, file.Region, file.Number, check.Offset, check.Next);
            if (await CallAsync(node, request, cancellationToken) is not { } part
                || part.Bytes.Length != check.Next) return false;
            writer.Write(part.Bytes.Span);
            check.Add(part.Bytes.Span);
        }

        if (!check.IsWhole(listed.Name.Digest)) return false;
        await writer.PublishAsync();
        return true;
    }

    private Task<TResponse?> CallAsync<TResponse>(
        BookedNode node, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response =>
        transport.TryCallAsync(node.StoreAddress, request, callLimit, time, cancellationToken);
}
