namespace Salus.Region.Body;

/// <summary>This member's copy of the region differs from what the members have agreed upon. No second attempt helps:
/// the member must be replaced.</summary>
internal sealed class DivergedBodyException(string message, Exception? inner = null) : Exception(message, inner);
