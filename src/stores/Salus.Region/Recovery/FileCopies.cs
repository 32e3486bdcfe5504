using Salus.Store.Files;

namespace Salus.Region.Recovery;

/// <summary>Copies checkpoint files of a region from other stores into the own one.</summary>
internal sealed class FileCopies(RecoveryPorts ports, StoreCalls calls, RegionKey region, Epoch generation)
{
    /// <summary>Copies a file from the first store that has it intact.</summary>
    /// <param name="expected">The checkpoint, where the log of the cluster names the file; none: the hashes that lead
    /// to its blocks tell.</param>
    /// <returns>False: no store has given it.</returns>
    public async Task<bool> TryCopyAsync(IEnumerable<StoreId> stores, long number, CheckpointName expected,
        CancellationToken cancellationToken)
    {
        foreach (var store in stores)
        {
            if (store == ports.Store) continue;
            var answer = await calls.CallAsync(store, new ListFilesRequest(generation, region), cancellationToken);
            if (answer is not { IsOk: true }) continue;
            foreach (var listed in answer.Files)
            {
                if (listed.Name.Number != number) continue;
                if (!expected.IsNone && listed.Name != expected && !Planted.Is("any-checkpoint-counts")) continue;
                if (await TryCopyFromAsync(store, listed, cancellationToken)) return true;
            }
        }

        return false;
    }

    // The file is compared with its digest before it gets its name.
    private async Task<bool> TryCopyFromAsync(
        StoreId store, ListedFile listed, CancellationToken cancellationToken)
    {
        var file = new RegionFile(region, listed.Name.Number);
        using var writer = ports.Files.Create(file);
        var check = new CheckpointCheck(listed.Length);
        while (check.Next > 0)
        {
            var request = new ReadFileRequest(generation, region, file.Number, check.Offset, check.Next);
            if (await calls.CallAsync(store, request, cancellationToken) is not { IsOk: true } part
                || part.Bytes.Length != check.Next) return false;
            writer.Write(part.Bytes.Span);
            check.Add(part.Bytes.Span);
        }

        if (!check.IsWhole(listed.Name.Digest)) return false;
        await writer.PublishAsync();
        return true;
    }
}
