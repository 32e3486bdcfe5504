namespace JobScheduler.Objects;

/// <summary>Kind of a transaction. The numbers are stored in the log.</summary>
public enum TransactionKind
{
    Submit = 1,
    Start = 2,
    Finish = 3,

    /// <summary>Setting the run up, and its last step.</summary>
    Other = 4,
}
