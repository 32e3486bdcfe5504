using System.ComponentModel;
using Corfu;

namespace Tango;

/// <summary>Context of an <see cref="ITangoView.Apply"/> call: where it stands in the log. It also tells the runtime
/// the mutator's result, if the caller is in this process.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct ApplyContext
{
    private readonly ApplyResult? _result;

    /// <summary>Context of a call that is not in the log.</summary>
    public ApplyContext(ApplyResult? result)
        : this(result, LogPlace.Pending(null))
    {
    }

    public ApplyContext(ApplyResult? result, LogPlace place) => (_result, Place) = (result, place);

    /// <summary>
    /// Place in the log of the call that is applied; on a transaction's own snapshot <see cref="LogPlace.IsPending"/>.
    /// An <c>ApplyX</c> gets it as an added last parameter. The same in every process: a spilled call's is in its
    /// spill.
    /// </summary>
    public LogPlace Place { get; }

    /// <summary>Position of the entry; zero for a call that is not in the log.</summary>
    internal LogPosition Position => Place.IsPending ? LogPosition.Zero : Place.Position;

    /// <summary>Hands the value returned by <c>ApplyX</c> to the local caller; does nothing (and does not box) when
    /// there is none.</summary>
    public void Return<T>(T value)
    {
        if (_result is ApplyResult<T> typed) typed.Value = value;
    }
}
