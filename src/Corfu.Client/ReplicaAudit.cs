using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>What a comparison of the replicas of a range of positions found.</summary>
/// <param name="Sound">Positions that all full replicas hold alike.</param>
/// <param name="Undecided">Positions without a value that everybody has: holes, appends under way, the end of the log.</param>
/// <param name="Mended">Positions that a replica had lost or damaged, and has again.</param>
/// <param name="Unrecoverable">Positions without a good copy.</param>
/// <param name="Diverged">Positions whose good copies differ.</param>
public sealed record ReplicaAudit(
    int Sound, int Trimmed, int Undecided, int Mended, ImmutableArray<LogPosition> Unrecoverable, ImmutableArray<LogPosition> Diverged);
