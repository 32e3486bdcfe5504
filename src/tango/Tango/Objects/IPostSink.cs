namespace Tango;

/// <summary>
/// Hears what the log says of an update that <see cref="TangoObject.PostHelper"/> has sent: one of the methods, once,
/// unless the post was withdrawn. The sending loop calls it before it sends its next batch: a sink that hears of doubt
/// can withdraw the posts that were to follow.
/// </summary>
/// <remarks>Methods are short and throw nothing. What Apply made of the update is heard by an
/// <see cref="IApplyObserver"/>, perhaps earlier: playback may meet a record before its append returns.</remarks>
public interface IPostSink
{
    /// <summary>The update is in the log.</summary>
    void OnAppended(RecordVersion version);

    /// <summary>The update may or may not be in the log, and the runtime does not send it again.</summary>
    void OnInDoubt(TangoInDoubtException reason);

    /// <summary>The update is not in the log, and never will be.</summary>
    void OnFailed(Exception reason);
}
