using Corfu.Protocol;

namespace Tango;

/// <summary>What an <see cref="ITangoView.Apply"/> call may tell the runtime: the mutator's result, if the caller is in
/// this process.</summary>
public readonly struct ApplyContext
{
    private readonly ApplyResult? _result;

    public ApplyContext(ApplyResult? result) => _result = result;

    /// <param name="position">Of the record that is applied.</param>
    internal ApplyContext(ApplyResult? result, LogPosition position) => (_result, Position) = (result, position);

    /// <summary>Where the record that is applied stands in the log; zero on a transaction's snapshot, where it has no
    /// position yet.</summary>
    internal LogPosition Position { get; }

    /// <summary>Hands the value returned by <c>ApplyX</c> to the local caller; does nothing (and does not box) when
    /// there is none.</summary>
    public void Return<T>(T value)
    {
        if (_result is ApplyResult<T> typed) typed.Value = value;
    }
}
