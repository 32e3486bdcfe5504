namespace Corfu.Orleans.Tests.Contracts;

public sealed class MemoryGrainStorageTests() : GrainStorageContract(keepStatesInLog: false);

public sealed class LogGrainStorageTests() : GrainStorageContract(keepStatesInLog: true);
