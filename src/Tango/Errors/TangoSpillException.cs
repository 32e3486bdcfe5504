namespace Tango;

/// <summary>The writes of a transaction above one entry could not all be written ahead of its commit record (R19).
/// Nothing took effect; the transaction can be run again.</summary>
public sealed class TangoSpillException(string message, Exception? innerException)
    : TangoException(message, innerException);
