namespace Corfu.Orleans.Journaling;

/// <summary>A journal cannot be read or written: its stream holds something else, or the data exceeds a
/// limit.</summary>
public sealed class CorfuJournalException : CorfuOrleansException
{
    public CorfuJournalException(string message)
        : base(message)
    {
    }

    public CorfuJournalException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
