using Tango.Records;

namespace Tango.Model;

/// <summary>Hears of every call of one object, as playback applies it.</summary>
internal interface ICallObserver
{
    /// <param name="call">Key and arguments point into the entry, which does not change.</param>
    /// <param name="version">Version of the record: a commit record's, in a transaction.</param>
    /// <param name="place">Place of the call.</param>
    /// <param name="tookEffect">False: the object refused the call, or it has stopped.</param>
    void OnApplied(
        scoped in CallRecord call, RecordVersion version, LogPlace place, bool isTransaction, bool tookEffect);
}
