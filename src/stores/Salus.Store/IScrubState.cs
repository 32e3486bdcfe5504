namespace Salus.Store;

/// <summary>The search for damage in a store, as its handler tells of it.</summary>
public interface IScrubState
{
    /// <summary>Any thread; quick.</summary>
    ScrubCount CountOf(RegionKey region);
}

/// <param name="Damaged">Files and records that no peer has given yet.</param>
/// <param name="Mended">Files and records that peers have given, since the process has started.</param>
public readonly record struct ScrubCount(long Damaged, long Mended);
