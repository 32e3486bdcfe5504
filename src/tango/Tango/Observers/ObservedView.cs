using Corfu;
using Tango.Model;

namespace Tango;

/// <summary>State of an object, given to an <see cref="IApplyObserver"/>. The object's class reads it.</summary>
public sealed class ObservedView
{
    private readonly TangoObject _view;
    private readonly bool _holdsMutableValues;

    internal ObservedView(TangoObject view, HostedObject hosted, LogPosition end) =>
        (_view, _holdsMutableValues, End) = (view, hosted.HoldsMutableValues, end);

    /// <summary>Everything below is in the state, nothing at or above.</summary>
    public LogPosition End { get; }

    /// <summary>Reads fields of the view, for code of the object's class.</summary>
    /// <param name="read">Must not keep the view.</param>
    public TResult Read<TView, TResult>(Func<TView, TResult> read)
        where TView : TangoObject =>
        ResultCopy<TResult>.Of(read((TView)_view), _holdsMutableValues);
}
