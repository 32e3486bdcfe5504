namespace Salus.Reads;

/// <summary>How far a region is, in a run that it has opened.</summary>
/// <param name="accepts">Whether last batch and root are what the driver can go on with; null: any.</param>
internal sealed class StatusQuestion(
    RegionKey region, long run, long oldest, Func<RegionStatusResponse, bool>? accepts = null)
    : MemberQuestion<RegionStatusResponse>(region)
{
    /// <summary>A member has said that its log lacks what the log of the cluster has decided.</summary>
    public bool IsLacking { get; private set; }

    public override string What => $"how far run {run} is";

    public override Request<RegionStatusResponse> At(Epoch generation) =>
        new RegionStatusRequest(generation, Region, run, oldest);

    // An answer that does not fit is no accusation: it may be of another generation.
    public override Judgment Judge(RegionStatusResponse response)
    {
        if (response.Status == SalusStatus.Diverged) IsLacking = true;
        return response.IsOk && accepts?.Invoke(response) != false ? Judgment.Good : Judgment.Unable;
    }
}
