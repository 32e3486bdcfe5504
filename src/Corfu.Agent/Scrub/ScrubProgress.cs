using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>How far a scrub has got; also where another one goes on.</summary>
/// <param name="Pass">Counts from 1.</param>
/// <param name="Next">Everything below is compared in this pass.</param>
/// <param name="Until">Where the pass ends: the tail when it began.</param>
/// <param name="Sound">Positions of this pass that all replicas hold alike.</param>
/// <param name="Mended">Positions of this pass that a replica had lost or damaged, and has again.</param>
/// <param name="Unrecoverable">Positions of this pass without a good copy.</param>
/// <param name="Diverged">Positions of this pass whose good copies differ.</param>
public sealed record ScrubProgress(
    int Pass, LogPosition Next, LogPosition Until, long Sound, long Undecided, long Mended, long Unrecoverable,
    long Diverged)
{
    public static readonly ScrubProgress None = new(0, default, default, 0, 0, 0, 0, 0);

    public bool IsDone => Next >= Until;

    /// <summary>Positions of this pass that were compared.</summary>
    public long Done => Sound + Undecided + Mended + Unrecoverable + Diverged;
}
