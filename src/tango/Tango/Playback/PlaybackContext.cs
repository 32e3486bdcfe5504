using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Calls;

namespace Tango.Playback;

/// <summary>Services of the runtime that playback needs.</summary>
/// <param name="MaxSpan">R19: the log's, once it has objects.</param>
/// <param name="VersionAge">R18: as <paramref name="MaxSpan"/>.</param>
/// <param name="LoadCohort">Finds the state from which playback of a cohort starts.</param>
/// <param name="FindGroup">The directory's entries of an object's group, or of the object alone; empty if the id is
/// unknown. The answer knows every object that was created below the position at which playback stands.</param>
/// <param name="Loops">Context in which playback runs, for all callers.</param>
/// <param name="IsDeleted">Whether the object is known to be deleted below the position; as new as
/// <paramref name="FindGroup"/>.</param>
internal sealed record PlaybackContext(
    ICorfuLog Log, CallBatcher Calls, Func<long> MaxSpan, Func<long> VersionAge, Func<IStreamCursor> OpenCursor,
    CohortLoader LoadCohort, GroupLookup FindGroup, Func<ObjectId, LogPosition, bool> IsDeleted, TangoOptions Options,
    TimeProvider Time, LoopContext Loops, IEntropy Entropy, ILogger Logger);

internal delegate ValueTask<IReadOnlyList<DirectoryEntry>> GroupLookup(
    ObjectId id, CancellationToken cancellationToken);
