namespace Corfu.Checkers;

/// <summary>Checkpoint files of all regions: correct members write the same bytes at the same place of a log
/// (`same-files`), and none that a kept checkpoint refers to goes (`retention`).</summary>
public sealed class RegionFilesCheck
{
    private readonly Dictionary<(string Region, long File, string Chain), (string Digest, string By)> _written = [];

    // By region and file, the files that it refers to.
    private readonly Dictionary<(string Region, long File), IReadOnlyList<long>> _refers = [];
    private readonly Dictionary<string, IReadOnlyList<long>> _kept = [];

    /// <param name="chain">The chain of the region's log at the cut.</param>
    /// <param name="refers">The files that the blocks and pages of the checkpoint are in.</param>
    public Violation? Written(
        string by, string region, long file, string chain, string digest, IReadOnlyList<long> refers)
    {
        _refers[(region, file)] = refers;
        if (_written.TryAdd((region, file, chain), (digest, by))) return null;
        var (other, before) = _written[(region, file, chain)];
        return other == digest
            ? null
            : new Violation(CheckerNames.SameFiles,
                $"{by} writes file {file} of {region} with digest {digest}, and {before} with {other}");
    }

    /// <summary>The checkpoints of a region that the log keeps.</summary>
    public void Kept(string region, IReadOnlyList<long> checkpoints) => _kept[region] = checkpoints;

    /// <summary>A correct store has deleted a file.</summary>
    public Violation? Deleted(string by, string region, long file)
    {
        foreach (var checkpoint in _kept.GetValueOrDefault(region) ?? [])
        {
            if (checkpoint == file || _refers.GetValueOrDefault((region, checkpoint))?.Contains(file) == true)
            {
                return new Violation(CheckerNames.Retention,
                    $"{by} deletes file {file} of {region}, which checkpoint {checkpoint} needs");
            }
        }

        return null;
    }

    /// <summary>A correct store drops the records of a region up to an index.</summary>
    /// <param name="floor">The index of the newest checkpoint that the stable point has reached; 0: none.</param>
    public static Violation? Freed(string by, string region, long index, long floor) => index <= floor
        ? null
        : new Violation(CheckerNames.Retention,
            $"{by} drops the records of {region} up to {index}, and the checkpoint at the stable point has {floor}");
}
