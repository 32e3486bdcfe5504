using System.Globalization;

namespace Corfu.Load;

/// <param name="DetectionMs">From the kill until an agent began to reconfigure, a second observer having
/// agreed.</param>
/// <param name="ResumeMs">From then until the first append was acknowledged in the new epoch.</param>
/// <param name="AllResumeMs">From then until every appender had one.</param>
/// <param name="Failed">Appends that ended with an error.</param>
internal sealed record FailoverRound(double DetectionMs, double ResumeMs, double AllResumeMs, long Appended,
    long Failed, long Unknown)
{
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"detected after {DetectionMs:0} ms, first append {ResumeMs:0.0} ms later, every appender {AllResumeMs:0.0} "
        + $"ms later; {Appended} appended, {Failed} failed, {Unknown} unknown");
}
