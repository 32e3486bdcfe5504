using Corfu;
using Tango.Model;

namespace Tango.Playback;

/// <summary>
/// The directory as this runtime plays it: within a cycle as far as everything else is applied, and outside as it was
/// published last. No object is known before it is open.
/// </summary>
internal sealed class PlayedDirectory(ViewPublisher views) : IPlaybackDirectory
{
    private static readonly LogPosition s_end = new(long.MaxValue);

    private volatile Cohort? _cohort;

    /// <summary>The directory is hosted, and is told to be open next.</summary>
    public event Action<HostedObject>? Opening;

    /// <summary>Null until the directory is open.</summary>
    public Cohort? Cohort => _cohort;

    /// <summary>The log's first objects fix it, so that any view of the directory that knows an object has it. Commit
    /// records have no effect here before.</summary>
    public long MaxSpan => Current?.MaxSpan ?? TangoDirectory.DefaultMaxSpan;

    /// <summary>Fixed as <see cref="MaxSpan"/>.</summary>
    public long VersionAge => Current?.VersionAge ?? TangoDirectory.DefaultVersionAge;

    /// <summary>As published last. Only after the directory was opened.</summary>
    /// <exception cref="TangoObjectStoppedException">The directory has stopped.</exception>
    public TangoDirectory Published => (TangoDirectory)views.Published.Of(Object!).Require(Object!);

    /// <summary>As published last, stopped or not. Only after the directory was opened.</summary>
    public TangoDirectory LastPublished => (TangoDirectory)views.Published.Of(Object!).View!;

    /// <summary>The log's feature level as published last, stopped or not; the first one before the directory is
    /// open.</summary>
    public int Level => Object is { } directory && views.Published.Of(directory).View is TangoDirectory view
        ? view.Level
        : FeatureLevel.First;

    /// <summary>The claims as published last; null while the directory is not served: stopped, it says nothing any
    /// more.</summary>
    public TrimClaims? Claims =>
        Object is { } directory && views.Published.Of(directory) is { Stopped: null, View: TangoDirectory view }
            ? view.Claims
            : null;

    private HostedObject? Object => _cohort?.Objects[0];

    private TangoDirectory? Current => (TangoDirectory?)Object?.CurrentView;

    /// <summary>The directory is hosted from now on.</summary>
    public void Open(Cohort cohort)
    {
        Opening?.Invoke(cohort.Objects[0]);
        _cohort = cohort;
    }

    /// <summary>Within a cycle.</summary>
    public ValueTask<IReadOnlyList<DirectoryEntry>> FindGroupAsync(ObjectId id, CancellationToken cancellationToken) =>
        new(Current!.GroupOf(id));

    /// <summary>Within a cycle.</summary>
    public bool IsDeletedBefore(ObjectId id, LogPosition position) =>
        Current is { } directory && directory.IsDeletedBefore(id, position);

    /// <summary>As published last.</summary>
    public bool IsDeleted(ObjectId id) => IsKnownDeletedBefore(id, s_end);

    /// <summary>As published last.</summary>
    public bool IsKnownDeletedBefore(ObjectId id, LogPosition position) =>
        Object is { } directory
        && views.Published.Of(directory).View is TangoDirectory view && view.IsDeletedBefore(id, position);
}
