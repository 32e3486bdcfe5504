namespace Tango;

/// <summary>The writes of a transaction above one entry could not all be written ahead of its commit record.
/// Nothing took effect; the transaction can be run again.</summary>
// Spills have no effect without the commit record that names them (R19).
public sealed class TangoSpillException(string message, Exception? innerException)
    : TangoException(message, innerException);
