using Corfu;

namespace Tango;

/// <summary>
/// Hears what objects do while this runtime plays them: the effects that their Apply emits, each once and in log order,
/// and when readers see them. A change feed plays an object a second time; an observer hears of the view that readers
/// have. <see cref="TangoRuntime.ObserveAsync"/> registers it.
/// </summary>
/// <remarks>Playback calls one method after the other, and readers of the runtime wait meanwhile. Methods are short,
/// wait for nothing that playback does, and throw nothing: an exception ends the observation, as if every object had
/// stopped.</remarks>
public interface IApplyObserver
{
    /// <summary>The state from which an object's effects go on: before all others, and again where the object was
    /// loaded anew. Effects between are missed then.</summary>
    /// <param name="handle">The object, as it was registered.</param>
    void OnReset(TangoObject handle, ObservedView view);

    /// <summary>A call has taken effect. Called again for each further effect of the call. Not before readers can see
    /// it, which <see cref="OnPublished"/> tells afterwards.</summary>
    /// <param name="handle">The object, as it was registered.</param>
    /// <param name="version">The record's; a commit record's, in a transaction.</param>
    /// <param name="effect">The object that Apply emitted.</param>
    void OnApplied(TangoObject handle, RecordVersion version, object effect);

    /// <summary>Readers see everything below a position, and the observer has heard all of its effects. Called whenever
    /// the runtime has played, also where nothing has changed; not when the log did not answer.</summary>
    void OnPublished(LogPosition end);

    /// <summary>The object is not played any more: it has stopped, was deleted, history was trimmed before it was
    /// played, or playback has failed for good. No effects follow, unless <see cref="OnReset"/> comes first. Disposal
    /// of the runtime is not told.</summary>
    /// <param name="handle">The object, as it was registered.</param>
    void OnStopped(TangoObject handle, Exception reason);
}
