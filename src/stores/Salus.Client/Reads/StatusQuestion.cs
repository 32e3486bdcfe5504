namespace Salus.Reads;

/// <summary>How far a region is, in a run that it has opened.</summary>
/// <param name="accepts">Whether last batch and root are what the driver can go on with; null: any.</param>
internal sealed class StatusQuestion(
    RegionKey region, long run, long oldest, Func<RegionStatusResponse, bool>? accepts = null)
    : MemberQuestion<RegionStatusResponse>(region)
{
    public override string What => $"how far run {run} is";

    public override Request<RegionStatusResponse> At(Epoch generation) =>
        new RegionStatusRequest(generation, Region, run, oldest);

    // An answer that does not fit is no accusation: it may be of another generation.
    public override Judgment Judge(RegionStatusResponse response) =>
        response.IsOk && accepts?.Invoke(response) != false ? Judgment.Good : Judgment.Unable;
}
