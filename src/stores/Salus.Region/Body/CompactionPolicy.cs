namespace Salus.Region.Body;

/// <summary>Which files of a region become one: those that are over half dead, else the smallest of too many. Pure; the
/// primary's choice, which a record makes everyone's.</summary>
internal static class CompactionPolicy
{
    /// <summary>More files than a region should have: each may cost a read a seek.</summary>
    public const int ManyFiles = 12;

    /// <summary>Bytes of live blocks that one compaction moves.</summary>
    public const long MostBytes = 64 << 20;

    /// <param name="sizes">Blocks of each file, live or dead; a file that is not in it stays.</param>
    public static ImmutableArray<long> Choose(CheckpointState state, IReadOnlyDictionary<long, int> sizes)
    {
        var dead = state.Files.Where(use => IsMostlyDead(use, sizes)).OrderBy(use => use.Blocks);
        var chosen = Take(state, dead);
        if (chosen.IsEmpty && state.Files.Length > ManyFiles)
            chosen = Take(state, state.Files.Where(use => sizes.ContainsKey(use.File)).OrderBy(use => use.Blocks));
        // A single file that is all alive only becomes another one.
        return chosen.Length > 1 || chosen.Any(file => state.Files.Any(use =>
            use.File == file && IsMostlyDead(use, sizes))) ? chosen : [];
    }

    private static bool IsMostlyDead(in FileUse use, IReadOnlyDictionary<long, int> sizes) =>
        sizes.TryGetValue(use.File, out var blocks) && 2L * use.Blocks < blocks;

    private static ImmutableArray<long> Take(CheckpointState state, IEnumerable<FileUse> files)
    {
        var left = MostBytes / state.BlockSize;
        var chosen = ImmutableArray.CreateBuilder<long>();
        foreach (var use in files)
        {
            if (use.Blocks > left || chosen.Count == CompactRecord.MaxInputs) break;
            left -= use.Blocks;
            chosen.Add(use.File);
        }

        chosen.Sort();
        return chosen.DrainToImmutable();
    }
}
