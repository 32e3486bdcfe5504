namespace Corfu.ZooKeeper.Wire;

/// <summary>ZooKeeper's types of requests, those in a multi included.</summary>
internal enum OpCode
{
    CloseSession = -11,
    Create = 1,
    Delete = 2,
    Exists = 3,
    GetData = 4,
    SetData = 5,
    GetAcl = 6,
    SetAcl = 7,
    GetChildren = 8,
    Sync = 9,
    Ping = 11,
    GetChildren2 = 12,
    Check = 13,
    Multi = 14,
    Create2 = 15,
    Reconfig = 16,
    CheckWatches = 17,
    RemoveWatches = 18,
    CreateContainer = 19,
    CreateTtl = 21,
    MultiRead = 22,
    Auth = 100,
    SetWatches = 101,
    Sasl = 102,
    GetEphemerals = 103,
    GetAllChildrenNumber = 104,
    SetWatches2 = 105,
    AddWatch = 106,
    WhoAmI = 107,
}

internal static class OpCodes
{
    /// <summary>Element of a multi's reply that has a code instead of a result.</summary>
    public const int Failed = -1;

    /// <summary>Whether a client may send the type as a request. A check stands in a multi only.</summary>
    public static bool IsRequest(OpCode code) => code != OpCode.Check && Enum.IsDefined(code);

    public static bool IsWrite(OpCode code) => code is OpCode.CloseSession or OpCode.Multi or OpCode.SetAcl
        || IsPartOfMulti(code) && code != OpCode.Check;

    public static bool IsPartOfMulti(OpCode code) => code is OpCode.Delete or OpCode.SetData or OpCode.Check
        || IsCreate(code);

    public static bool IsPartOfMultiRead(OpCode code) => code is OpCode.GetData or OpCode.GetChildren;

    public static bool IsCreate(OpCode code) =>
        code is OpCode.Create or OpCode.Create2 or OpCode.CreateContainer or OpCode.CreateTtl;
}
