using System.ComponentModel;
using Corfu;

namespace Tango;

/// <summary>Context of an <see cref="ITangoView.Apply"/> call: where it stands in the log. It also tells the runtime
/// the mutator's result, if the caller is in this process.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct ApplyContext
{
    private readonly ApplyResult? _result;
    private readonly List<object>? _effects;

    /// <summary>Context of a call that is not in the log.</summary>
    public ApplyContext(ApplyResult? result)
        : this(result, LogPlace.Pending(null))
    {
    }

    public ApplyContext(ApplyResult? result, LogPlace place) =>
        (_result, Place, Version) = (result, place, new RecordVersion(place.Position, place.Record));

    /// <param name="effects">Gets what is emitted; null: the object is not observed.</param>
    internal ApplyContext(ApplyResult? result, LogPlace place, RecordVersion version, List<object>? effects) =>
        (_result, Place, Version, _effects) = (result, place, version, effects);

    /// <summary>
    /// Place in the log of the call that is applied; on a transaction's own snapshot <see cref="LogPlace.IsPending"/>.
    /// An <c>ApplyX</c> gets it as an added last parameter. The same in every process: a spilled call's is in its
    /// spill.
    /// </summary>
    public LogPlace Place { get; }

    /// <summary>
    /// Version of the record that lets the call take effect: in a transaction the commit record's, also of a spilled
    /// call. Calls take effect in this order. On a transaction's own snapshot above all others.
    /// </summary>
    public RecordVersion Version { get; }

    /// <summary>An <see cref="IApplyObserver"/> hears what the call emits. It differs between processes: what the call
    /// does to the view must not depend on it.</summary>
    public bool IsObserved => _effects is not null;

    /// <summary>Position of the entry; zero for a call that is not in the log.</summary>
    internal LogPosition Position => Place.IsPending ? LogPosition.Zero : Place.Position;

    /// <summary>Hands the value returned by <c>ApplyX</c> to the local caller; does nothing (and does not box) when
    /// there is none.</summary>
    public void Return<T>(T value)
    {
        if (_result is ApplyResult<T> typed) typed.Value = value;
    }

    /// <summary>Tells those who observe the object what the call has done; does nothing when there are none. They hear
    /// of it once the call has succeeded.</summary>
    /// <param name="effect">Immutable: it is passed to other threads.</param>
    public void Emit(object effect)
    {
        ArgumentNullException.ThrowIfNull(effect);
        _effects?.Add(effect);
    }
}
