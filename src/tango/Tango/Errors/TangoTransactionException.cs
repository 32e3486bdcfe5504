namespace Tango;

/// <summary>A transaction was used in a way that is never right: concurrently, after its end, inside another
/// one.</summary>
public class TangoTransactionException(string message) : TangoException(message);
